/** How SQLite stores values. */

import { packCostSource, unpackCostSource } from '../../rows/codes.ts';
import { SHARED_FORMS } from '../../rows/forms.ts';
import type { Binding } from '../../statements/statement.ts';
import { packEnvelope, unpackEnvelope } from './compact-envelopes.ts';
import { fillParameters, packId, packIds, packRequestKey, unpackRequestKey } from './compact-ids.ts';

export const BINDING: Binding = {
  forms: {
    ...SHARED_FORMS,
    flag: { store: Number, read: (stored: number) => stored === 1 },
    condition: { store: Number, read: (stored: number) => stored === 1, ofNull: false },
    costSource: { store: packCostSource, read: unpackCostSource },
    envelope: { store: packEnvelope, read: unpackEnvelope },
    id: {
      store: packId,
      read: () => {
        throw new Error('a query selects ids by idText');
      },
    },
    requestKey: { store: packRequestKey, read: unpackRequestKey },
    // Lists fill the placeholders of a query.
    ids: { store: packIds, read: refuseList },
    filled: { store: fillParameters, read: refuseList },
  },
  toArray: null,
  hasListRows: true,
};

function refuseList(): never {
  throw new Error('no column holds a list');
}
