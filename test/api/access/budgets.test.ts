import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { BUDGET_MATRIX } from './budgets-matrix.ts';
import { testMatrix } from './matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(BUDGET_MATRIX, () => fixture);
