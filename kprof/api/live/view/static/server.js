// Sends requests to the server with the token from the URL's fragment, which is removed from the address bar.

const KEY = "kprof-token";

function token() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) || "";
}

const headers = { "X-Kprof-Token": token() };

/** Error of a rejected or failed request: `answer` has the server's message, path, place and hint. */
export class Refused extends Error {
  constructor(status, answer) {
    super(answer.message || `the server answers ${status}`);
    this.status = status;
    this.answer = answer;
  }
}

async function answer(path, options) {
  const found = await fetch(path, { ...options, headers });
  const answer = await found.json();
  if (!found.ok) throw new Refused(found.status, answer);
  return answer;
}

export const about = () => answer("/api/session", {});

export const ask = (what, question, signal) =>
  answer(`/api/${what}`, { method: "POST", body: JSON.stringify(question), signal });

/** Call `heard(kind, news)` for each event, without end; call `lost(words)` while the server cannot be reached. */
export async function listen(heard, lost) {
  for (;;) {
    try {
      const found = await fetch("/api/stream", { headers });
      if (!found.ok) throw new Refused(found.status, await found.json());
      lost("");
      await read(found.body.pipeThrough(new TextDecoderStream()).getReader(), heard);
      lost("kprof view has ended");
    } catch (error) {
      lost(error instanceof Refused ? error.message : "kprof view has ended");
    }
    await new Promise((go) => setTimeout(go, 2000));
  }
}

async function read(reader, heard) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name) => lines.find((line) => line.startsWith(name))?.slice(name.length);
      const data = field("data: ");
      if (data) heard(field("event: "), JSON.parse(data));
    }
  }
}
