import { expect, it } from 'vitest';
import { cutToCapacity } from '../../../src/domain/datasets/datasets.ts';

it('an entry that has no room takes none from those after it', () => {
  expect(cutToCapacity(['"long"', '1', '2', '3'], { entriesMax: 4, bytesMax: 4 })).toEqual(['1', '2']);
});
