/** The search parameters of the evaluator page. */

import { SCORES } from '../evaluations/search.ts';
import { oneOf } from '../layout/search.ts';
import { finderReaderOf } from '../traces/search.ts';

/** The filters select the traces to evaluate. */
export const readEvaluatorSearch = finderReaderOf({ ...SCORES, tab: oneOf('traces', 'scores', 'settings') });
