// Follows a job in a real Chromium, as a user would. Reads what to do as JSON from its first argument and prints what it found as JSON:
// tests/dashboard_test.py starts it and judges.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATIENCE_MS = 50_000;
const { link, watchLink, wrongLink, job, endless, shots } = JSON.parse(process.argv[2]);

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
const troubles = [];

/** A tab of its own; what it complains about is kept, but for requests that a test wants to fail. */
async function open(address, { complaints = true, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`)));
  if (complaints) {
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) troubles.push(`console: ${message.text()}`); });
    page.on('pageerror', (error) => troubles.push(`page: ${error.message}`));
  }
  await page.goto(address);
  return page;
}

async function check(page, name) {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await window.axe.run(document)).violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).join(', ')}`));
  for (const violation of found) troubles.push(`axe on ${name}: ${violation}`);
  const sideways = await page.evaluate(() => document.scrollingElement.scrollWidth > window.innerWidth);
  if (sideways) troubles.push(`${name} scrolls sideways`);
}

const result = {};
const page = await open(link);
await page.locator('.jobs li', { hasText: job.name }).waitFor();
await page.locator('.map .peer').nth(1).waitFor();
result.tokenInAddress = page.url().includes('token');
result.isolated = await page.evaluate(() => window.crossOriginIsolated);
await check(page, 'grid-1440-light');

// From the dashboard to the job, and along with it to its end.
await page.locator(`.jobs a[href="#/jobs/${job.id}"]`).click();
await page.locator('h1', { hasText: job.name }).waitFor();
await page.locator('.stream .seg').first().waitFor();
await check(page, 'job-running-1440-light');
await page.locator('h1 .pill', { hasText: 'Done' }).waitFor();
result.percent = await page.locator('#percent').textContent();
await page.locator('pre.log', { hasText: job.prints }).waitFor();
result.output = await page.locator('pre.log').textContent();
result.rows = await page.locator('#t-tasks').locator('xpath=ancestor::section').locator('tbody tr').count();
await page.getByRole('button', { name: 'Events' }).click();
await page.locator('pre.log', { hasText: 'The job is over: done' }).waitFor();
await check(page, 'job-done-1440-light');

// The peers, on the keyboard.
await page.keyboard.press('g');
await page.keyboard.press('p');
await page.locator('h1', { hasText: 'Peers' }).waitFor({ state: 'attached' });  // the page before has rows too
await page.locator('tbody tr').nth(1).waitFor();
result.peers = await page.locator('tbody tr').count();
await check(page, 'peers-1440-light');
await page.locator('tbody tr', { hasText: 'This peer' }).locator('a').click();
await page.locator('#t-share').waitFor();
await check(page, 'peer-1440-light');

// Narrow and dark.
const narrow = await open(link, { viewport: { width: 360, height: 780 }, colorScheme: 'dark' });
await narrow.locator('.map .peer').nth(1).waitFor();
await check(narrow, 'grid-360-dark');
await narrow.goto(`${new URL(link).origin}/#/jobs/${job.id}`);
await narrow.locator('h1', { hasText: job.name }).waitFor();
await narrow.locator('.stream .seg').first().waitFor();
await check(narrow, 'job-360-dark');
await narrow.setViewportSize({ width: 1440, height: 900 });
await narrow.goto(`${new URL(link).origin}/#/`);
await narrow.locator('.map .peer').nth(1).waitFor();
await check(narrow, 'grid-1440-dark');

// A watcher sees all and has no buttons; who manages ends a job.
const watcher = await open(watchLink + `#/jobs/${endless.id}`.slice(1));
await watcher.locator('h1', { hasText: endless.name }).waitFor();
await watcher.locator('h1 .pill', { hasText: 'Running' }).waitFor();
result.watcherButtons = await watcher.locator('.head .acts button').count();
await page.goto(`${new URL(link).origin}/#/jobs/${endless.id}`);
await page.getByRole('button', { name: 'Cancel' }).click();
await page.locator('h1 .pill', { hasText: 'Cancelled' }).waitFor();
await watcher.locator('h1 .pill', { hasText: 'Cancelled' }).waitFor();

// Nobody else gets in.
const stranger = await open(wrongLink, { complaints: false });
result.refused = await stranger.locator('main h1').textContent();
await check(stranger, 'refused-1440-light');
const none = await open(new URL(link).origin);
result.withoutToken = await none.locator('main h1').textContent();
const foreign = await open('data:text/html,<p>another page', { complaints: false });
result.fromElsewhere = await foreign.evaluate((address) => fetch(`${address}/v1/node`).then(() => 'answered', () => 'blocked'), new URL(link).origin);

console.log(JSON.stringify({ ...result, troubles }));
await browser.close();
