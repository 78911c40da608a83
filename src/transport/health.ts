/** grpc.health.v1: whether the process, and each service in it, takes calls. */

import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import { type Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.js';
import { Fault } from '../domain/fault.ts';

export type HealthState = {
  /** Tells every watcher. Once not serving, watchers are told and sent away, so that they do not delay a drain. */
  readonly setServing: (serving: boolean) => void;
  readonly service: ServiceImpl<typeof Health>;
};
