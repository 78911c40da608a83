import { afterAll, beforeAll, describe } from 'vitest';
import { isFullTier } from '../../support/scenario.ts';
import { createFixture, type Fixture } from './access-fixture.ts';
import { BUDGET_MATRIX } from './budgets-matrix.ts';
import { ENDPOINT_MATRIX } from './endpoints-matrix.ts';
import { EXPERIMENT_MATRIX } from './experiments-matrix.ts';
import { GATEWAY_MATRIX } from './gateway-matrix.ts';
import { KEY_MATRIX } from './keys-matrix.ts';
import { testMatrix } from './matrix.ts';
import { MONITOR_MATRIX } from './monitors-matrix.ts';
import { ORGANIZATION_MATRIX } from './organization-matrix.ts';
import { forPeople, forSessions, SESSION_MATRIX, withPeople, withSessions } from './sessions-matrix.ts';

describe('sessions', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture();
  });
  afterAll(async () => {
    await fixture.app.close();
  });
  testMatrix(SESSION_MATRIX, () => fixture);
});

const FULL_MATRICES = {
  budgets: BUDGET_MATRIX,
  endpoints: ENDPOINT_MATRIX,
  experiments: EXPERIMENT_MATRIX,
  gateway: GATEWAY_MATRIX,
  monitors: MONITOR_MATRIX,
};
/** A session is read in one place for all rpcs, and keys have every matrix in both tiers: two suffice for the quick one. */
const MATRICES = { keys: KEY_MATRIX, organization: ORGANIZATION_MATRIX, ...(isFullTier ? FULL_MATRICES : {}) };

describe.each(Object.entries(MATRICES))('a session may do what its key may and nothing else: %s', (_, matrix) => {
  let fixture: Fixture;
  let keys: Fixture;
  beforeAll(async () => {
    keys = await createFixture();
    fixture = await withSessions(keys);
  });
  afterAll(async () => {
    await keys.app.close();
  });
  testMatrix(forSessions(matrix), () => fixture);
});

describe.each(Object.entries(MATRICES))(
  'a person without a key may do what all their roles permit: %s',
  (_, matrix) => {
    let fixture: Fixture;
    let keys: Fixture;
    beforeAll(async () => {
      keys = await createFixture();
      fixture = await withPeople(keys);
    });
    afterAll(async () => {
      await keys.app.close();
    });
    testMatrix(forPeople(matrix), () => fixture);
  },
);
