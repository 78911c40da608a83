import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { followLink, signInLink } from '../browser.ts';
import type { Stage } from '../stage.ts';

/** A script that sends everything that a page can send: forms of all kinds, scripts with and without the cookie, pictures. */
const ATTACK = `([target, key, attempts]) => {
  const submit = ({ path, body }, enctype) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.name = 'frame-' + Math.random();
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: target + path, enctype, target: frame.name });
    const field = document.createElement('input');
    // With text/plain, name and value together are JSON.
    [field.name, field.value] = [body.slice(0, -2), body.slice(-2)];
    form.append(field);
    document.body.append(form);
    frame.addEventListener('load', () => resolve('loaded'));
    setTimeout(() => resolve('loaded'), 5_000);
    form.submit();
  });
  const script = ({ verb, path, body }, init) =>
    fetch(target + path, { method: verb, ...(verb === 'GET' ? {} : { body }), ...init }).then(
      (answer) => (answer.type === 'opaque' ? 'opaque' : String(answer.status)),
      () => 'blocked',
    );
  const picture = ({ path }) => new Promise((resolve) => {
    const image = new Image();
    image.onload = () => resolve('loaded');
    image.onerror = () => resolve('no picture');
    image.src = target + path;
  });
  const json = { 'content-type': 'application/json' };
  const asConsole = { ...json, 'x-spandrel-console': '1' };
  // A key of its own must not sign the browser in either.
  const signIn = { verb: 'POST', path: '/api/auth/session', body: '{}' };
  return Promise.all([
    ...attempts.flatMap((attempt) => [
      submit(attempt, 'text/plain'),
      submit(attempt, 'application/x-www-form-urlencoded'),
      submit(attempt, 'multipart/form-data'),
      picture(attempt),
      script(attempt, { mode: 'no-cors', credentials: 'include' }),
      script(attempt, { credentials: 'include' }),
      script(attempt, { credentials: 'include', headers: json }),
      script(attempt, { credentials: 'include', headers: asConsole }),
      script(attempt, { credentials: 'same-origin', headers: asConsole }),
    ]),
    script(signIn, { credentials: 'include', headers: { ...asConsole, 'x-auth-token': key } }),
    script(signIn, { credentials: 'omit', headers: { ...json, 'x-auth-token': key } }),
  ]);
}`;

export function meetForeignPages(stage: Stage): void {
  describe('a page of another origin', () => {
    let server: Server;
    beforeAll(async () => {
      server = createServer((_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end('<!doctype html><title>foreign</title><body>foreign');
      });
      server.listen(0);
      await once(server, 'listening');
    });
    afterAll(() => {
      server.close();
    });

    // The same site at another port gets the cookie sent along, another site does not.
    it.each(['127.0.0.1', 'localhost'])('at %s changes nothing with the session of a browser', (host) =>
      stage.visit(async ({ page }) => {
        const { address, adminKey, projectKey } = stage.app;
        await followLink(page, signInLink(address, adminKey, '/-/teams'));
        await page.getByRole('heading', { name: 'Teams and roles' }).waitFor();
        const [before] = await page.context().cookies();
        const name = `made by ${host}`;
        const team = JSON.stringify({ name });
        const attempts = [
          { verb: 'POST', path: '/api/teams', body: team },
          { verb: 'POST', path: '/spandrel.v1.TeamService/CreateTeam', body: team },
          { verb: 'PATCH', path: '/api/organization', body: team },
          { verb: 'POST', path: '/api/auth/logout', body: '{}' },
          { verb: 'GET', path: '/api/organization', body: '' },
        ];
        const foreign = await page.context().newPage();
        await foreign.goto(`http://${host}:${(server.address() as AddressInfo).port}/`);
        const sent = JSON.stringify([address, projectKey, attempts]);
        const outcomes = await foreign.evaluate<string[]>(`(${ATTACK})(${sent})`);
        expect(outcomes).toHaveLength(attempts.length * 9 + 2);
        // Of the answers that the page may read, only the one to its own key is not a refusal.
        const [ownKeyWithCookie, ownKey] = outcomes.slice(-2);
        expect([ownKeyWithCookie, ownKey]).toEqual(['blocked', '201']);
        const REFUSALS = ['loaded', 'no picture', 'opaque', 'blocked', '401'];
        expect(outcomes.slice(0, -2).filter((outcome) => !REFUSALS.includes(outcome))).toEqual([]);
        const headers = { 'x-auth-token': adminKey };
        const teams = await callRest(address, { path: '/api/teams?limit=1000', headers });
        expect(teams.body.data.map((each: { name: string }) => each.name)).not.toContain(name);
        expect((await callRest(address, { path: '/api/organization', headers })).body.name).not.toBe(name);
        const after = (await page.context().cookies()).filter((each) => each.name === 'spandrel_session');
        expect(after).toEqual([before]);
        await page.reload();
        await page.getByRole('heading', { name: 'Teams and roles' }).waitFor();
        await foreign.close();
      }),
    );
  });
}
