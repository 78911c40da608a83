/** The blocks of a project, as they are known to who looks for traces in them. */

import type { RowOf } from '../questions.ts';
import { type Bits, unpackBits } from './block-format.ts';
import type { SearchAsking, SearchQuestions } from './trace-search.ts';

type Row = RowOf<SearchQuestions['listBlocks']>;
export type KnownBlock = Omit<Row, 'gone'> & {
  /** Traces that are not in it any more. */
  readonly gone: Bits;
};

const BLOCKS_AT_ONCE = 500;

export async function listAllBlocks(
  { questions, ask }: Pick<SearchAsking, 'ask'> & { readonly questions: Pick<SearchQuestions, 'listBlocks'> },
  projectNumber: number,
): Promise<readonly KnownBlock[]> {
  const blocks: KnownBlock[] = [];
  for (let after = 0; ; ) {
    const some = await ask(questions.listBlocks, { projectNumber, after, limit: BLOCKS_AT_ONCE });
    for (const row of some) blocks.push({ ...row, gone: unpackBits(row.gone) });
    const last = some.at(-1);
    if (last === undefined || some.length < BLOCKS_AT_ONCE) return blocks;
    after = last.block;
  }
}
