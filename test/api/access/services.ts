/** Reads all rpcs with a route and a credential from the generated code. */

import { readdirSync } from 'node:fs';
import { type DescFile, getOption, hasOption } from '@bufbuild/protobuf';
import { http } from '../../../gen/google/api/annotations_pb.js';
import { Credential, policy } from '../../../gen/spandrel/v1/options_pb.js';
import type { Callable } from '../../support/surfaces.ts';

const FOLDER = new URL('../../../gen/spandrel/v1/', import.meta.url);

export async function readRoutedMethods(): Promise<readonly Callable[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('_pb.js'));
  const modules = await Promise.all(names.map((name) => import(new URL(name, FOLDER).href)));
  const files = modules.flatMap((module) => Object.values<unknown>(module)).filter(isFile);
  const methods = files.flatMap(({ services }) => services.flatMap((service) => service.methods));
  return methods
    .filter((method) => hasOption(method, http) && getOption(method, policy).credential !== Credential.OPEN)
    .map((method) => method as Callable);
}

export function nameOf({ parent, name }: Callable): string {
  return `${parent.typeName}/${name}`;
}

function isFile(value: unknown): value is DescFile {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'file';
}
