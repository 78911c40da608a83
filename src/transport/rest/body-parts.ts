/** The text of an answer, turned into bytes: a large one in parts, because megabytes at once take longer than others should wait. */

/** Small ones stay text. */
export type AnswerBody = readonly (string | Buffer)[];

export type BuildTools = {
  /** Resolves in a turn of the event loop that nobody else was given. */
  readonly nextTurn: () => Promise<void>;
  /** Throws where nobody waits for the answer any more. */
  readonly requireCaller: () => void;
};

const PART_CHARACTERS = 262_144;

/** Promises nothing for what is written in one part, which most answers are. */
export function buildBody(pieces: Iterator<string>, tools: BuildTools): AnswerBody | Promise<AnswerBody> {
  const first = takePart(pieces);
  return first.isLast ? [first.text] : buildRest(first.text, pieces, tools);
}

async function buildRest(
  first: string,
  pieces: Iterator<string>,
  { nextTurn, requireCaller }: BuildTools,
): Promise<AnswerBody> {
  const body = [Buffer.from(first)];
  for (let isLast = false; !isLast; ) {
    await nextTurn();
    requireCaller();
    const part = takePart(pieces);
    body.push(Buffer.from(part.text));
    isLast = part.isLast;
  }
  return body;
}

function takePart(pieces: Iterator<string>): { readonly text: string; readonly isLast: boolean } {
  let text = '';
  while (text.length < PART_CHARACTERS) {
    const next = pieces.next();
    if (next.done) return { text, isLast: true };
    text += next.value;
  }
  return { text, isLast: false };
}
