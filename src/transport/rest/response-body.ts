/** Encodes the text of a response; a large one in chunks, because encoding megabytes at once would block other requests. */

/** A small body stays text. */
export type ResponseBody = readonly (string | Buffer)[];

type BuildTools = {
  /** Resolves in a turn of the event loop of its own. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Throws where the client has disconnected. */
  readonly requireConnected: () => void;
};

const CHUNK_CHARACTERS = 262_144;
const BYTES_PER_CHARACTER_MAX = 3;

/** Synchronous where the body fits in one chunk, as most do. */
export function buildResponseBody(texts: Iterator<string>, tools: BuildTools): ResponseBody | Promise<ResponseBody> {
  let text = '';
  while (text.length < CHUNK_CHARACTERS) {
    const next = texts.next();
    if (next.done) return [text];
    text += next.value;
  }
  return buildRest(text, texts, tools);
}

async function buildRest(
  first: string,
  texts: Iterator<string>,
  { yieldToEventLoop, requireConnected: requireCaller }: BuildTools,
): Promise<ResponseBody> {
  const body = [Buffer.from(first)];
  const room = Buffer.allocUnsafeSlow(CHUNK_CHARACTERS * 2);
  for (let isLast = false; !isLast; ) {
    await yieldToEventLoop();
    requireCaller();
    isLast = addChunk(body, texts, room);
  }
  return body;
}

/**
 * Returns whether it added the last text. Most texts are short and are encoded into `room` one by one: joining them
 * first would copy each twice.
 */
function addChunk(body: Buffer[], texts: Iterator<string>, room: Buffer): boolean {
  let bytes = 0;
  const flush = () => {
    if (bytes > 0) body.push(Buffer.from(room.subarray(0, bytes)));
    bytes = 0;
  };
  let isLast = false;
  for (let characters = 0; characters < CHUNK_CHARACTERS; ) {
    const next = texts.next();
    if (next.done) {
      isLast = true;
      break;
    }
    const text = next.value;
    characters += text.length;
    const maxBytes = text.length * BYTES_PER_CHARACTER_MAX;
    if (maxBytes > room.length - bytes) flush();
    if (maxBytes > room.length) body.push(Buffer.from(text));
    else bytes += room.write(text, bytes);
  }
  flush();
  return isLast;
}
