export * as endpointsSweep from './endpoints-sweep.ts';
export * as endpointsWork from './endpoints-work.ts';
export * as endpointsWrites from './endpoints-writes.ts';
export * as endpoints from './endpoints.ts';
export * as events from './events.ts';
export * as keys from './keys.ts';
export * as organization from './organization.ts';
export * as traces from './traces.ts';
