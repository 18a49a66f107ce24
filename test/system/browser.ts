import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** The Chromium of Debian. */
const CHROMIUM = '/usr/bin/chromium';
/** Screenshots, which CI keeps for a person to look at. */
const PICTURES = join(import.meta.dirname, '../../.artifacts/page');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Why there is no browser; undefined if there is one. */
export const NO_BROWSER = existsSync(CHROMIUM) ? undefined : `there is no ${CHROMIUM}`;

export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1_280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1_280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, isMobile: true },
} as const satisfies Readonly<Record<string, BrowserContextOptions>>;

export type Look = keyof typeof LOOKS;

/** A page of a real browser that records its console output and the hosts that it requests. */
export type Tab = {
  readonly page: Page;
  /** Expects no console errors and no requests to other hosts. */
  readonly expectQuiet: () => void;
};

let browser: Promise<Browser> | undefined;

/** Opens a page of the worker at `url`. The browser is shared by the tests of a file, and ends with its process. */
export async function openTab(url: string, options: BrowserContextOptions = LOOKS.light): Promise<Tab> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const context = await (await browser).newContext({ baseURL: url, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(`asked ${request.url()}`);
  });
  page.on('requestfailed', (request) => {
    // A navigation cancels what the page before it still asks for, such as its icon.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, expectQuiet: () => expect(complaints).toEqual([]) };
}

/** Expects no accessibility violations by axe. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  expect(found).toEqual([]);
}

/** Expects no horizontal scrolling. */
export async function expectFits(page: Page): Promise<void> {
  const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
  const [needed, given] = widths as [number, number];
  expect(needed).toBeLessThanOrEqual(given);
}

export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}
