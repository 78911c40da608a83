/** Open forms of annotations, by trace. A form comes and goes with its zone; what is typed stays until it is saved. */

import { isBlank, type OpenAnnotation } from './annotation-draft.ts';

/** The oldest one is dropped for one more. */
const OPEN_MAX = 100;

const open = new Map<string, OpenAnnotation>();
const listeners = new Set<() => void>();

/** Projects may have traces of the same id. */
export function annotationKey(projectId: string, traceId: string): string {
  return JSON.stringify([projectId, traceId]);
}

export function recallAnnotation(key: string): OpenAnnotation | null {
  return open.get(key) ?? null;
}

export function keepAnnotation(key: string, annotation: OpenAnnotation): void {
  open.delete(key);
  open.set(key, annotation);
  const [oldest] = open.keys();
  if (open.size > OPEN_MAX && oldest !== undefined) open.delete(oldest);
  tellListeners();
}

export function dropAnnotation(key: string): void {
  open.delete(key);
  tellListeners();
}

/** Whether something is typed that is not saved yet. */
export function hasUnsaved(key: string): boolean {
  const annotation = open.get(key);
  return annotation !== undefined && !isBlank(annotation.draft);
}

/** Calls `listener` after each change, until the function that it returns is called. */
export function watchAnnotations(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tellListeners(): void {
  for (const listener of listeners) listener();
}
