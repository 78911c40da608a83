import { afterAll, beforeAll } from 'vitest';
import { EXPERIMENT_MATRIX } from './experiments-matrix.ts';
import { testMatrix } from './matrix.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.app.close();
});

testMatrix(EXPERIMENT_MATRIX, () => world);
