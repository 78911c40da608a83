import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { GATEWAY_MATRIX } from './gateway-matrix.ts';
import { testMatrix } from './matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(GATEWAY_MATRIX, () => fixture);
