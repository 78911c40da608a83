/** Queries of the audit log. */

import { insert } from '../plain-queries.ts';

export const insertEntry = insert('AuditEntry');
