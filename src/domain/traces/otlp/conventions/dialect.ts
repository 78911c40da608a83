/** The form of a dialect: attributes that a family of instrumentations has names of its own for, beside usage. */

import type { SpanType } from '../../trace.ts';
import type { Source } from '../span-view.ts';

export type Dialect = {
  readonly name: string;
  /** Any of these attributes shows that a span is of this dialect. */
  readonly marks: readonly string[];
  /** Whether its names come before those of all others. Otherwise they fill what others leave. */
  readonly leads: boolean;
  readonly type?: Source<SpanType>;
  readonly model?: readonly Source[];
  readonly vendor?: readonly Source[];
  readonly cost?: readonly Source[];
  readonly input?: readonly Source[];
  readonly output?: readonly Source[];
  /** JSON objects of parameters. */
  readonly params?: readonly Source[];
};

export type DialectField = 'model' | 'vendor' | 'cost' | 'input' | 'output' | 'params';
