import type { SampleService } from './sample-history-service.ts';

/** What happens to the service and when, in chronological order. */
export type ServiceEvent = readonly [at: string, apply: (service: SampleService) => unknown];

const BASKETBALL = [
  'NBA',
  'WNBA',
  "NCAA Men's Basketball",
  "NCAA Women's Basketball",
  'EuroLeague',
  'NBL',
  'Liga ACB',
  'Lega Basket Serie A',
  'BBL',
  'CBA',
];

/** A new league that lacks a required field. */
const WITHOUT_STATUS = {
  league_id: '5d0c1f6e-7a51-5b0e-9d3c-2f4e8a6b1c70',
  league_name: 'Kings League',
  sport: 'soccer',
  league_image: 'https://images.example.com/leagues/5d0c1f6e7a51.png',
  priority: 125,
  create_datetime: '2026-11-11T05:31:08.402117',
  last_update_datetime: null,
};

/** Two weeks of November. Polls are due every four hours, so most events are seen up to four hours later. */
export const SERVICE_EVENTS: readonly ServiceEvent[] = [
  ['2026-11-03T01:10:00Z', (it) => it.drop('MLB Preseason')],
  ['2026-11-03T09:30:00Z', (it) => it.change({ priority: 2.5 }, 'NBA')],
  ['2026-11-03T14:05:00Z', (it) => it.change({ active_season_type: 'regular' }, 'NFL Preseason')],
  // Sent in a form that cannot be stored, for a day.
  ['2026-11-04T09:20:00Z', (it) => it.spoil('Liiga', { priority: 'high' })],
  ['2026-11-04T13:45:00Z', (it) => it.drop('KBO League')],
  ['2026-11-05T09:20:00Z', (it) => it.spoil('Liiga')],
  ['2026-11-05T10:00:00Z', (it) => it.add('MLS')],
  // A night with an outage.
  ['2026-11-05T22:40:00Z', ({ state }) => Object.assign(state, { down: true })],
  ['2026-11-06T09:15:00Z', ({ state }) => Object.assign(state, { down: false })],
  ['2026-11-06T13:00:00Z', (it) => it.drop('NPB')],
  ['2026-11-07T02:30:00Z', (it) => it.restore('KBO League')],
  ['2026-11-07T06:50:00Z', (it) => it.change({ priority: 2, rankings: true }, 'NBA')],
  ['2026-11-07T17:30:00Z', (it) => it.change({ status: 'inactive' }, 'NBL')],
  // A field that the interface does not name.
  ['2026-11-09T06:00:00Z', (it) => it.change({ season_label: '2026-27' }, 'NBA', 'NHL', 'EuroLeague', 'AHL', 'SHL')],
  ['2026-11-09T14:10:00Z', ({ state }) => Object.assign(state, { breaks: 1 })],
  ['2026-11-10T07:00:00Z', (it) => it.add('Premiership Rugby')],
  ['2026-11-10T10:30:00Z', ({ state }) => Object.assign(state, { delayMs: 23_400 })],
  ['2026-11-10T18:20:00Z', (it) => it.drop('EFL Cup')],
  ['2026-11-11T05:40:00Z', (it) => it.spoil('Kings League', WITHOUT_STATUS)],
  ['2026-11-11T09:00:00Z', (it) => it.changePlayer({ verified: true })],
  ['2026-11-12T02:15:00Z', (it) => it.change({ status: 'active' }, 'NBL')],
  // The password was changed, and changed back.
  ['2026-11-12T15:00:00Z', ({ state }) => Object.assign(state, { refusing: true })],
  ['2026-11-12T20:10:00Z', ({ state }) => Object.assign(state, { refusing: false })],
  ['2026-11-13T01:45:00Z', (it) => it.restore('EFL Cup')],
  ['2026-11-13T01:45:00Z', (it) => it.change({ priority: 35 }, 'EFL Cup')],
  ['2026-11-13T05:30:00Z', (it) => it.add('NLL', { season_label: '2026-27' })],
  ['2026-11-13T21:05:00Z', (it) => it.change({ status: 'active', state: 'Victoria' }, 'NCAA Baseball')],
  ['2026-11-14T03:20:00Z', (it) => it.add('Big Bash League')],
  ['2026-11-14T11:15:00Z', (it) => it.change({ priority: 3, season_label: '2026/27' }, 'NBA')],
  ['2026-11-15T17:30:00Z', (it) => it.drop(...BASKETBALL)],
  ['2026-11-16T01:00:00Z', (it) => it.change({ status: 'inactive' }, 'CFL')],
];
