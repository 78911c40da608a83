/** Queries of evaluators. */

import { slugQueries } from '../plain-queries.ts';

export const { lockLive } = slugQueries('Evaluator');
