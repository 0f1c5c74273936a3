"""flash-kmeans: batched k-means by distance, cosine and product, three iterations over 8,192 points of 128 numbers."""

import torch
from flash_kmeans import batch_kmeans_Cosine, batch_kmeans_Dot, batch_kmeans_Euclid

points = torch.randn(4, 8192, 128, device="cuda", dtype=torch.float16)
for function in (batch_kmeans_Euclid, batch_kmeans_Cosine, batch_kmeans_Dot):
    try:
        labels, centres, _ = function(points, n_clusters=256, max_iters=3)
        assert labels.shape == (4, 8192)
        assert centres.shape == (4, 256, 128)
    except Exception as error:  # noqa: BLE001  # one function's failure is a line of the page
        print(f"failed {function.__name__}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
