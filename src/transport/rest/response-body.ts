/** Encodes the text of a response; a large one in chunks, because encoding megabytes at once would block other requests. */

/** A small body stays text. */
export type ResponseBody = readonly (string | Buffer)[];

type BuildTools = {
  /** Resolves in a turn of the event loop of its own. */
  readonly nextTurn: () => Promise<void>;
  /** Throws where the client has disconnected. */
  readonly requireConnected: () => void;
};

const CHUNK_CHARACTERS = 262_144;

/** Synchronous where the body fits in one chunk, as most do. */
export function buildResponseBody(texts: Iterator<string>, tools: BuildTools): ResponseBody | Promise<ResponseBody> {
  const first = readChunk(texts);
  return first.isLast ? [first.text] : buildRest(first.text, texts, tools);
}

async function buildRest(
  first: string,
  texts: Iterator<string>,
  { nextTurn, requireConnected: requireCaller }: BuildTools,
): Promise<ResponseBody> {
  const body = [Buffer.from(first)];
  for (let isLast = false; !isLast; ) {
    await nextTurn();
    requireCaller();
    const chunk = readChunk(texts);
    body.push(Buffer.from(chunk.text));
    isLast = chunk.isLast;
  }
  return body;
}

function readChunk(texts: Iterator<string>): { readonly text: string; readonly isLast: boolean } {
  let text = '';
  while (text.length < CHUNK_CHARACTERS) {
    const next = texts.next();
    if (next.done) return { text, isLast: true };
    text += next.value;
  }
  return { text, isLast: false };
}
