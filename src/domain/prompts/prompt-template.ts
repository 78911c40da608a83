/** Renders the templates of a prompt, which are Liquid, with values that a caller sends. */

import { type Reason, validationFault } from '../fault.ts';
import { customReason } from '../reasons.ts';
import type { PromptConfig } from './prompt-config.ts';

export type Variables = Readonly<Record<string, unknown>>;

type RenderedTexts = Pick<PromptConfig, 'prompt' | 'messages'>;

/** Of all texts of a prompt together. */
const RENDERED_CHARACTERS_MAX = 1_000_000;
const REASON_CHARACTERS_MAX = 200;

/** Throws validation_error for a template that is wrong, takes too long or becomes too large. */
export async function renderTexts(
  { prompt, messages }: Pick<PromptConfig, 'prompt' | 'messages'>,
  variables: Variables,
): Promise<RenderedTexts> {
  const renderOne = await loadEngine();
  const problems: Reason[] = [];
  let left = RENDERED_CHARACTERS_MAX;
  const render = (text: string, field: string): string => {
    try {
      const rendered = renderOne(text, variables);
      left -= rendered.length;
      if (left >= 0) return rendered;
      problems.push(customReason(field, `${field} becomes longer than ${RENDERED_CHARACTERS_MAX} characters`));
    } catch (error) {
      const said = error instanceof Error ? error.message.slice(0, REASON_CHARACTERS_MAX) : 'it cannot be read';
      problems.push(customReason(field, `${field} cannot be rendered: ${said}`));
    }
    return '';
  };
  const rendered = {
    prompt: render(prompt, 'prompt'),
    messages: messages.map(({ role, content }, index) => ({
      role,
      content: render(content, `messages.${index}.content`),
    })),
  };
  if (problems.length > 0) throw validationFault('json', problems);
  return rendered;
}

const PARSED_CHARACTERS_MAX = 200_000;
/** Nothing else is served by this process while a template is rendered. */
const RENDER_MAX_MS = 250;
const ALLOCATED_MAX = 10_000_000;

/**
 * Loaded by the first call. The texts that the returned function renders share one limit of time and one of memory. They reach no
 * files, no members but those that are sent, and not what another one of them assigns.
 */
async function loadEngine(): Promise<(text: string, variables: Variables) => string> {
  const { Context, Liquid } = await import('liquidjs');
  const engine = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    parseLimit: PARSED_CHARACTERS_MAX,
    renderLimit: RENDER_MAX_MS,
    memoryLimit: ALLOCATED_MAX,
  });
  const limits = new Context({}, engine.options, { sync: true });
  return (text, variables) => engine.renderSync(engine.parse(text), limits.spawn(variables));
}
