import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { KEY_MATRIX } from './keys-matrix.ts';
import { testMatrix } from './matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(KEY_MATRIX, () => fixture);
