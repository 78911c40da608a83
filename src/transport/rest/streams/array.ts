/** Writes the parts of a bare list as one JSON array. */

import type { DescMessage } from '@bufbuild/protobuf';
import { compileItemTexts } from '../encode.ts';
import type { StreamWriter } from './format.ts';

export function compileArray(output: DescMessage): () => StreamWriter {
  const write = compileItemTexts(output);
  return () => {
    let before = '[';
    return {
      *write(message) {
        for (const item of write(message)) {
          yield before + item;
          before = ',';
        }
      },
      end: () => (before === '[' ? '[]' : ']'),
      fail: null,
    };
  };
}
