/** The form of a dialect: attributes that a family of instrumentations has names of its own for, beside usage. */

import type { ReadAttribute } from '../span-view.ts';
import type { ReadType } from './sources.ts';

export type Dialect = {
  readonly name: string;
  /** Any of these attributes shows that a span is of this dialect. */
  readonly marks: readonly string[];
  /** Whether its names come before those of all others. Otherwise they fill what others leave. */
  readonly leads: boolean;
  readonly type?: ReadType;
  readonly model?: readonly ReadAttribute[];
  readonly vendor?: readonly ReadAttribute[];
  readonly cost?: readonly ReadAttribute[];
  readonly input?: readonly ReadAttribute[];
  readonly output?: readonly ReadAttribute[];
  /** JSON objects of parameters. */
  readonly params?: readonly ReadAttribute[];
};

export type DialectField = 'model' | 'vendor' | 'cost' | 'input' | 'output' | 'params';
