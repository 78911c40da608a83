/** The search parameters of the page of a prompt. */

import { oneOf, readerOf, type SearchOf, text } from '../layout/search.ts';

const READERS = {
  tab: oneOf('versions', 'evaluate', 'use'),
  /** The numbers of two versions to compare. */
  from: text,
  to: text,
  /** The experiment and the run that the page works on. */
  experiment: text,
  run: text,
};

export const readPromptSearch = readerOf(READERS);

export type PromptSearch = SearchOf<typeof READERS>;
