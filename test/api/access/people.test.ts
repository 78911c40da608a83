import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { testMatrix } from './matrix.ts';
import { PEOPLE_MATRIX } from './people-matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(PEOPLE_MATRIX, () => fixture);
