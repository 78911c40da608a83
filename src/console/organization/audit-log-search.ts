/** The search parameters of the audit log. */

import { text } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

const FILTERS = { action: text, outcome: text, target: text, user: text, key: text };

export const readAuditLogSearch = rangeReaderOf(FILTERS);
export type FilterName = keyof typeof FILTERS;
