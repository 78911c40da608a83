/** The search parameters of the pages of budgets. */

import { flag, oneOf, readerOf, text } from '../layout/search.ts';

const SCOPE = {
  scope: oneOf('organization', 'team', 'project', 'virtual-key', 'principal', 'end-user'),
  /** The id of the scope. */
  of: text,
};

/** What a new budget begins with. */
export const readBudgetSearch = readerOf(SCOPE);
export const readBudgetListSearch = readerOf({ ...SCOPE, archived: flag });

export type ScopeName = NonNullable<ReturnType<typeof readBudgetSearch>['scope']>;
