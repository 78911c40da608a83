/** What the services of the contract share when they are wired. */

import type { DescService } from '@bufbuild/protobuf';
import type { CursorCodec } from '../domain/cursor.ts';
import type { Implementation, Method } from '../rpc/method.ts';

export type ServiceParts = {
  readonly cursors: CursorCodec;
  readonly compile: <S extends DescService>(service: S, implementation: Implementation<S>) => Method[];
  readonly publicUrl: () => string;
};
