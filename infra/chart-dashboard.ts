/*
 * The Grafana dashboard of the chart: what an operator looks at first on top, what a deletion costs at the bottom.
 * Made by chart-files.ts into infra/chart/files/dashboard.json; a test holds every metric that it names against the bridge's.
 */

/** What a panel shows: a figure, or lines over time. */
interface Panel {
  readonly title: string;
  readonly type: 'stat' | 'timeseries' | 'table';
  /** Of 24 columns. */
  readonly width: number;
  readonly unit?: string;
  readonly description: string;
  /** PromQL by legend. */
  readonly lines: Readonly<Record<string, string>>;
}

const HEIGHT = { stat: 4, timeseries: 8, table: 8 } as const;
const COLUMNS = 24;
const FILTER = 'rule=~"$rule"';
const quantile = (at: number) =>
  `histogram_quantile(${at}, sum by (le) (rate(finalizer_bridge_deletion_duration_seconds_bucket{${FILTER}}[$__rate_interval])))`;
const rate = (metric: string, by: string, filter = '') =>
  `sum by (${by}) (rate(finalizer_bridge_${metric}_total{${filter}}[$__rate_interval]))`;

const FIGURES: readonly Panel[] = [
  figure('Leaders', 'Exactly one, always.', 'sum(finalizer_bridge_leader)'),
  figure('Pending', 'Objects being deleted that still carry an entry.', `sum(finalizer_bridge_pending{${FILTER}})`),
  figure('Held', 'Those that need a person or a change.', `sum(finalizer_bridge_held{${FILTER}}) or vector(0)`),
  {
    ...figure('Oldest', 'Age of the oldest deletion.', `max(finalizer_bridge_oldest_pending_seconds{${FILTER}})`),
    unit: 's',
  },
  figure('Strays', 'Live objects with an entry whose rule is not there.', 'sum(finalizer_bridge_strays) or vector(0)'),
  figure(
    'Blind to',
    'Kinds that the leader does not see.',
    'count((finalizer_bridge_watching and on (instance) finalizer_bridge_leader == 1) == 0) or vector(0)',
  ),
];

const LINES: readonly Panel[] = [
  lines('Held, by rule and reason', 'docs/operations.md says what to do about each.', {
    '{{rule}} {{reason}}': `sum by (rule, reason) (finalizer_bridge_held{${FILTER}})`,
  }),
  lines('Pending, by rule', 'What is being deleted.', {
    '{{rule}}': `sum by (rule) (finalizer_bridge_pending{${FILTER}})`,
  }),
  {
    ...lines('From delete to gone', 'How long a deletion takes.', { p50: quantile(0.5), p99: quantile(0.99) }),
    unit: 's',
  },
  lines('Entries taken off, by why', 'Every reason but gone is a policy or a word of a person.', {
    '{{reason}}': rate('entries_removed', 'reason', FILTER),
  }),
  lines('Requests', 'Sent, and refused by the queue.', {
    'sent {{rule}}': rate('requests_sent', 'rule', FILTER),
    'failed {{rule}}': rate('requests_failed', 'rule', FILTER),
  }),
  lines('Results, by what was done with them', 'WrongSender and OtherCluster should not be here.', {
    '{{disposition}}': rate('results', 'disposition'),
  }),
  lines('Gone without teardown, and dead letters', 'What went past the bridge, and what no function could do.', {
    'bypassed {{rule}}': `sum by (rule) (increase(finalizer_bridge_bypassed_total{${FILTER}}[1h]))`,
    'missed {{rule}}': `sum by (rule) (increase(finalizer_bridge_missed_total{${FILTER}}[1h]))`,
    'dead letters {{rule}}': `sum by (rule) (increase(finalizer_bridge_dead_letters_total{${FILTER}}[1h]))`,
  }),
  lines('Entries put on, and waiting for it', 'New objects that the admission policy did not give their entry.', {
    'put on {{rule}}': rate('entries_added', 'rule', FILTER),
    'waiting {{rule}}': `sum by (rule) (finalizer_bridge_unclaimed{${FILTER}})`,
  }),
  lines('Words of people', 'Releases, retries and approvals that were heard.', {
    '{{word}} {{rule}}': `sum by (word, rule) (increase(finalizer_bridge_words_total{${FILTER}}[1h]))`,
  }),
  lines('Work that failed', 'Reading, recording or patching objects.', {
    '{{rule}}': rate('work_failures', 'rule', FILTER),
  }),
  lines('Calls to the API server', 'By verb and status.', {
    '{{verb}} {{status}}': rate('api_calls', 'verb, status'),
  }),
  lines('Calls to the queue', 'By what came of them.', {
    '{{call}} {{outcome}}': rate('queue_calls', 'call, outcome'),
  }),
  lines('Watches started again', 'By kind and cause.', {
    '{{resource}}.{{group}} {{cause}}': rate('watch_restarts', 'group, resource, cause'),
  }),
  lines('Events', 'Recorded, failed and dropped.', { '{{outcome}}': rate('events', 'outcome') }),
];

function figure(title: string, description: string, expression: string): Panel {
  return { title, description, type: 'stat', width: 4, lines: { '': expression } };
}

function lines(title: string, description: string, shown: Panel['lines']): Panel {
  return { title, description, type: 'timeseries', width: 12, lines: shown };
}

/** The dashboard's text, with a choice of data source and of rules. */
export function dashboardJson(): string {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  let [x, y] = [0, 0];
  const panels = [...FIGURES, ...LINES].map(({ title, description, type, width, unit = 'short', lines: shown }, at) => {
    const gridPos = { x, y, w: width, h: HEIGHT[type] };
    x = (x + width) % COLUMNS;
    if (x === 0) y += HEIGHT[type];
    const targets = Object.entries(shown).map(([legendFormat, expr], index) => ({
      ...{ datasource, expr, legendFormat, refId: String.fromCharCode(65 + index) },
    }));
    const fieldConfig = { defaults: { unit, min: 0 }, overrides: [] };
    return { id: at + 1, title, description, type, datasource, gridPos, fieldConfig, targets };
  });
  const variables = [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
    {
      ...{ name: 'rule', label: 'Rule', type: 'query', datasource, includeAll: true, multi: true, allValue: '.*' },
      ...{ query: 'label_values(finalizer_bridge_pending, rule)', refresh: 2, sort: 1 },
    },
  ];
  const dashboard = {
    ...{ uid: 'finalizer-bridge', title: 'Finalizer Bridge', tags: ['finalizer-bridge'], schemaVersion: 39 },
    ...{ editable: true, refresh: '30s', time: { from: 'now-6h', to: 'now' }, timezone: 'browser' },
    ...{ templating: { list: variables }, panels },
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
