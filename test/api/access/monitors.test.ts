import { afterAll, beforeAll } from 'vitest';
import { testMatrix } from './matrix.ts';
import { MONITOR_MATRIX } from './monitors-matrix.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.app.close();
});

testMatrix(MONITOR_MATRIX, () => world);
