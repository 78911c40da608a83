/** What is asked and stored of price overrides. */

import { sql } from 'kysely';
import { insert, remove } from '../plain-questions.ts';
import { change, question } from '../questions.ts';

export const listOverrides = question<{ readonly organizationId: string }>()((db, { organizationId }, { find }) =>
  find(db, 'PriceOverride', { organizationId }).orderBy('createdAtMs', 'desc').orderBy('id', 'desc'),
);

export const insertOverride = insert('PriceOverride');

export const removeOverride = remove('PriceOverride', ['organizationId', 'id']);

/** What is remembered of the overrides of an organization holds for one version of them. */
export const movePricesOn = change<{ readonly id: string }>((db, { id }, { update }) =>
  update(db, 'Organization', { id }).set(({ eb }) => ({ priceVersion: eb('priceVersion', '+', sql.lit(1)) })),
);
