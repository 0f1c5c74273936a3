"""From paths to configuration files: what is passed over, and what must not be."""

import json
import os
from pathlib import Path

from kprof_servers.configs.reading import gather


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path, monkeypatch):
    """What is in it was not checked. Who runs the tests may list all of them."""
    name = "E=8,N=1024,device_name=AMD_Instinct_MI300X.json"
    (tmp_path / name).write_text(json.dumps({"1": {"BLOCK_SIZE_M": 16}}))
    (tmp_path / "locked").mkdir()
    plain = os.scandir

    def scandir(path):
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = gather([str(tmp_path)])
    assert len(found.files) == 1
    assert [(p.path, p.message) for p in found.problems] == [
        (str(tmp_path / "locked"), "cannot be listed: Permission denied")
    ]
