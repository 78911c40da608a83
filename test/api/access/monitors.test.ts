import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { DASHBOARD_MATRIX } from './dashboards-matrix.ts';
import { testMatrix } from './matrix.ts';
import { MONITOR_MATRIX } from './monitors-matrix.ts';
import { TRIGGER_MATRIX } from './triggers-matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(MONITOR_MATRIX, () => fixture);
testMatrix(DASHBOARD_MATRIX, () => fixture);
testMatrix(TRIGGER_MATRIX, () => fixture);
