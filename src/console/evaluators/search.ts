/** The search parameters of the evaluator page. */

import { SCORES } from '../evaluations/search.ts';
import { oneOf } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';
import { FINDER } from '../traces/search.ts';

/** The filters select the traces to evaluate. */
export const readEvaluatorSearch = rangeReaderOf({
  ...FINDER,
  ...SCORES,
  tab: oneOf('traces', 'scores', 'settings'),
});
