import { afterAll, beforeAll } from 'vitest';
import { KEY_MATRIX } from './keys-matrix.ts';
import { testMatrix } from './matrix.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.app.close();
});

testMatrix(KEY_MATRIX, () => world);
