import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { testMatrix } from './matrix.ts';
import { ORGANIZATION_MATRIX } from './organization-matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(ORGANIZATION_MATRIX, () => fixture);
