import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { post } from '../gateway-calls.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage, TestProject } from '../stage.ts';

/** Index 5 fails. */
const FAILING = 5;

/** Whether a chart, by its place on the page, has drawn anything in a colour of the style sheet. */
function isDrawnIn(page: Page, color: string, place = 0): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    document.body.style.outlineColor = 'var(${color})';
    const wanted = getComputedStyle(document.body).outlineColor.match(/\\d+/g).map(Number);
    const canvas = document.querySelectorAll('canvas')[${place}];
    if (!canvas) return false;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4)
      if (wanted.every((part, of) => Math.abs(data[at + of] - part) < 3) && data[at + 3] === 255) return true;
    return false;
  })()`);
}

/** Creates a monitor, sends a trace, and waits for its evaluation. */
async function monitorOne(project: TestProject, name: string, evaluatorType: string): Promise<void> {
  const { address, projectKey } = project;
  const evaluator = await post(project, '/api/evaluators', projectKey, {
    name,
    config: { evaluatorType, settings: {} },
  });
  const monitor = await post(project, '/api/monitors', projectKey, { name, evaluatorId: evaluator.id });
  await send(project, shopTrace(1, Date.now() - 60_000));
  const path = `/api/analytics/evaluations?from=0&to=${Date.now()}&interval=total&monitor_id=${monitor.id}`;
  const headers = { 'x-auth-token': projectKey };
  await until(async () => (await callRest(address, { path, headers })).body.buckets[0]?.evaluations === 1);
}

export function tellWhatIsWrong(stage: Stage): void {
  describe('a monitor', () => {
    it('whose evaluations are all skipped says so beside its name, and why', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Skipping shop');
        await monitorOne(project, 'Helpful answers', 'langevals/llm_boolean');
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/monitors`));
        await page.getByRole('row', { name: /Helpful answers all skipped/ }).waitFor();
        await page.getByRole('link', { name: 'Helpful answers' }).click();
        await page.getByRole('region', { name: 'Why evaluations were skipped' }).getByText(/LLM/).waitFor();
      }));

    it('says of a score that counts findings that less is better', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Leaking shop');
        await monitorOne(project, 'No secrets', 'langwatch/api_keys_and_secrets_detection');
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/monitors`));
        await page.getByRole('row', { name: /No secrets on .* 0 secrets found/ }).waitFor();
        await page.getByRole('link', { name: 'No secrets' }).click();
        await page.getByText('The score is the number of secrets found: less is better, and 0 is best.').waitFor();
      }));
  });

  describe('the overview', () => {
    it('draws failures in red, and says why the rows of models do not add up', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Breaking shop');
        await send(project, shopTrace(FAILING, Date.now() - 60_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/overview`));
        await page.getByRole('link', { name: /^Failed traces 1 / }).waitFor();
        await page.getByRole('columnheader', { name: 'Failed spans' }).waitFor();
        await page.getByText(/Failures of tools and other spans belong to no model/).waitFor();
        await page.getByRole('img', { name: /Cost over time/ }).waitFor();
        await until(() => isDrawnIn(page, '--accent'));
        await page.getByRole('img', { name: /Failed traces over time/ }).waitFor();
        await until(() => isDrawnIn(page, '--bad', 1));
        expect(await isDrawnIn(page, '--accent', 1)).toBe(false);
      }));
  });
}
