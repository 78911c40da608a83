/** Renders the templates of a prompt, which are Liquid, with values that a caller sends. */

import type { PermitRequest } from '../../scheduling/tenant-semaphore.ts';
import { type Reason, validationFault } from '../fault.ts';
import { customReason } from '../reasons.ts';
import type { PromptConfig } from './prompt-config.ts';

export type Variables = Readonly<Record<string, unknown>>;

type Texts = Pick<PromptConfig, 'prompt' | 'messages'>;
export type RenderTask = Texts & { readonly variables: Variables };
export type Rendered = Texts & { readonly problems: readonly Reason[] };

/** Renders in a thread, which is ended when it takes too long. Rejects with unavailable when too many wait. */
export type RenderInThread = (request: PermitRequest, task: RenderTask) => Promise<Rendered>;

/** Of all texts of a prompt together. */
const RENDERED_CHARACTERS_MAX = 1_000_000;
const REASON_CHARACTERS_MAX = 200;

/** Throws validation_error for a template that is wrong, takes too long or becomes too large. */
export async function renderTexts(render: RenderInThread, request: PermitRequest, task: RenderTask): Promise<Texts> {
  const { problems, ...texts } = await render(request, task);
  if (problems.length > 0) throw validationFault('json', problems);
  return texts;
}

/** What a rendering that did not end comes to. */
export function unrendered(why: string): Rendered {
  return { prompt: '', messages: [], problems: [customReason('prompt', `the prompt cannot be rendered: ${why}`)] };
}

const PARSED_CHARACTERS_MAX = 200_000;
/** The engine looks at the clock between the parts of a template alone: one filter may take much longer. */
const RENDER_MAX_MS = 250;
const ALLOCATED_MAX = 10_000_000;

/**
 * Loads the engine. The texts of a task share one limit of time and one of memory. They reach no files, no members but those
 * that are sent, and not what another one of them assigns.
 */
export async function loadRenderer(): Promise<(task: RenderTask) => Rendered> {
  const { Context, Liquid } = await import('liquidjs');
  const engine = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    parseLimit: PARSED_CHARACTERS_MAX,
    renderLimit: RENDER_MAX_MS,
    memoryLimit: ALLOCATED_MAX,
  });
  return ({ prompt, messages, variables }) => {
    const limits = new Context({}, engine.options, { sync: true });
    const problems: Reason[] = [];
    let left = RENDERED_CHARACTERS_MAX;
    const render = (text: string, field: string): string => {
      try {
        const rendered: string = engine.renderSync(engine.parse(text), limits.spawn(variables));
        left -= rendered.length;
        if (left >= 0) return rendered;
        problems.push(customReason(field, `${field} becomes longer than ${RENDERED_CHARACTERS_MAX} characters`));
      } catch (error) {
        const said = error instanceof Error ? error.message.slice(0, REASON_CHARACTERS_MAX) : 'it cannot be read';
        problems.push(customReason(field, `${field} cannot be rendered: ${said}`));
      }
      return '';
    };
    return {
      prompt: render(prompt, 'prompt'),
      messages: messages.map(({ role, content }, index) => ({
        role,
        content: render(content, `messages.${index}.content`),
      })),
      problems,
    };
  };
}
