import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectRoot } from '../../harness/cli.ts'
import { promtool } from '../../harness/promtool.ts'

/** The alert rules, evaluated by Prometheus itself. */
const file = join(projectRoot, 'docker/monitoring/alerts.yaml')

interface Rule {
  readonly alert: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const rules: readonly Rule[] = parse(readFileSync(file, 'utf8')).groups.flatMap(
  (group: { rules: readonly Rule[] }) => group.rules,
)

type Series = Readonly<Record<string, string>>

/** Two hours of a healthy Mailroom, one value a minute. */
const healthy: Series = {
  'up{job="mailroom",instance="a"}': '1x130',
  'process_start_time_seconds{job="mailroom",instance="a"}': '1000x130',
  'nodejs_eventloop_lag_p99_seconds{job="mailroom",instance="a"}': '0.02x130',
  'mailroom_build_info{instance="a",version="1"}': '1x130',
  'mailroom_part_ready{instance="a",part="scanner"}': '1x130',
  'mailroom_part_ready{instance="a",part="spam_filter"}': '1x130',
  'mailroom_doctor_findings{instance="a",level="error"}': '0x130',
  'mailroom_doctor_findings{instance="a",level="warning"}': '2x130',
  'mailroom_database_waiting{instance="a",pool="http"}': '0x130',
  'mailroom_smtp_messages_total{instance="a",result="accepted"}': '0+60x130',
  'mailroom_smtp_messages_total{instance="a",result="our_trouble"}': '0x130',
  'mailroom_smtp_messages_total{instance="a",result="mailbox_unknown"}': '0+60x130',
  'mailroom_scan_seconds_count{instance="a",verdict="clean"}': '0+60x130',
  'mailroom_scan_seconds_count{instance="a",verdict="unscanned"}': '0x130',
  'mailroom_smtp_sessions_cut_total{instance="a",reason="too_many_sessions"}': '0x130',
  'mailroom_queue_oldest_due_seconds{instance="a"}': '1x130',
  'mailroom_queue_oldest_tried_seconds{instance="a"}': '600x130',
  'mailroom_route_held{instance="a",provider="smarthost"}': '0x130',
  'mailroom_route_domains_held{instance="a",provider="smarthost"}': '0x130',
  'mailroom_submissions_total{instance="a",outcome="accepted",reply="2xx"}': '0+60x130',
  'mailroom_submissions_total{instance="a",outcome="failed",reply="5xx"}': '0+1x130',
  'mailroom_webhook_lag_seconds{instance="a"}': '0.2x130',
  'mailroom_brands_paused{instance="a"}': '0x130',
  'mailroom_provider_news_forged_total{instance="a",provider="postmark"}': '0x130',
  'mailroom_dkim_keys_unopened_total{instance="a"}': '0x130',
  'mailroom_http_requests_total{instance="a",method="GET",route="/v1/emails",status="200"}': '0+600x130',
  'mailroom_http_requests_total{instance="a",method="GET",route="/v1/emails",status="500"}': '0x130',
  'mailroom_http_request_seconds_bucket{instance="a",le="1"}': '0+600x130',
  'mailroom_http_request_seconds_bucket{instance="a",le="10"}': '0+600x130',
  'mailroom_http_request_seconds_bucket{instance="a",le="+Inf"}': '0+600x130',
  'mailroom_disk_free_bytes{instance="a",path="/var"}': '50000000000x130',
  'mailroom_disk_full_in_seconds{instance="a",path="/var"}': '8640000x130',
  'mailroom_backup_last_success_timestamp_seconds{instance="a"}': '5000x130',
  'mailroom_restore_last_proven_timestamp_seconds{instance="a"}': '5000x130',
  'mailroom_backup_last_damaged_timestamp_seconds{instance="a"}': '-9000000x130',
  'mailroom_certificate_expiry_timestamp_seconds{instance="a",name="mail.example"}': '9000000x130',
}

/** What differs from {@link healthy} where each alert has to fire. */
const faults: Readonly<Record<string, Series>> = {
  MailroomDown: { 'up{job="mailroom",instance="a"}': '0x130' },
  MailroomRestarts: { 'process_start_time_seconds{job="mailroom",instance="a"}': '1000+300x130' },
  MailroomVersionsDiffer: { 'mailroom_build_info{instance="b",version="2"}': '1x130' },
  MailroomPartNotReady: { 'mailroom_part_ready{instance="a",part="scanner"}': '0x130' },
  MailroomDoctorErrors: { 'mailroom_doctor_findings{instance="a",level="error"}': '1x130' },
  MailroomDatabaseWaiting: { 'mailroom_database_waiting{instance="a",pool="http"}': '3x130' },
  MailroomDatabaseSilent: { 'mailroom_database_timeouts_total{instance="a",pool="http"}': '0+2x130' },
  MailroomEventLoopLag: { 'nodejs_eventloop_lag_p99_seconds{job="mailroom",instance="a"}': '0.9x130' },
  MailroomDefersMail: { 'mailroom_smtp_messages_total{instance="a",result="our_trouble"}': '0+2x130' },
  MailroomMailNotScanned: { 'mailroom_scan_seconds_count{instance="a",verdict="unscanned"}': '0+30x130' },
  MailroomSpamFilterAway: { 'mailroom_part_ready{instance="a",part="spam_filter"}': '0x130' },
  MailroomSessionsFull: { 'mailroom_smtp_sessions_cut_total{instance="a",reason="too_many_sessions"}': '0+9x130' },
  MailroomQueueStands: { 'mailroom_queue_oldest_due_seconds{instance="a"}': '1000x130' },
  MailroomEmailsDelayed: { 'mailroom_queue_oldest_tried_seconds{instance="a"}': '20000x130' },
  MailroomRouteHeld: { 'mailroom_route_held{instance="a",provider="smarthost"}': '1x130' },
  MailroomWebhooksBehind: { 'mailroom_webhook_lag_seconds{instance="a"}': '400x130' },
  MailroomDomainsRefused: { 'mailroom_route_domains_held{instance="a",provider="smarthost"}': '2x130' },
  MailroomSubmissionsFail: {
    'mailroom_submissions_total{instance="a",outcome="failed",reply="5xx"}': '0+20x130',
  },
  MailroomBrandPaused: { 'mailroom_brands_paused{instance="a"}': '1x130' },
  MailroomForgedNews: { 'mailroom_provider_news_forged_total{instance="a",provider="postmark"}': '0+3x130' },
  MailroomDkimKeysSealed: { 'mailroom_dkim_keys_unopened_total{instance="a"}': '0+1x130' },
  MailroomHttpErrors: {
    'mailroom_http_requests_total{instance="a",method="GET",route="/v1/emails",status="500"}': '0+60x130',
  },
  MailroomHttpSlow: { 'mailroom_http_request_seconds_bucket{instance="a",le="1"}': '0+300x130' },
  MailroomDiskFull: { 'mailroom_disk_free_bytes{instance="a",path="/var"}': '500000000x130' },
  MailroomDiskFullSoon: { 'mailroom_disk_full_in_seconds{instance="a",path="/var"}': '86400x130' },
  MailroomBackupOld: { 'mailroom_backup_last_success_timestamp_seconds{instance="a"}': '-100000x130' },
  MailroomBackupUnproven: { 'mailroom_restore_last_proven_timestamp_seconds{instance="a"}': '-4000000x130' },
  MailroomBackupDamaged: { 'mailroom_backup_last_damaged_timestamp_seconds{instance="a"}': '6000x130' },
  MailroomCertificateExpires: {
    'mailroom_certificate_expiry_timestamp_seconds{instance="a",name="mail.example"}': '200000x130',
  },
}

const firing = (alert: string) => `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`

/** A test for promtool: how many of each alert fire two hours after the start, which is 1970. */
function ruleTest(series: Series, expected: ReadonlyMap<string, number>) {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: Array.from(expected, ([alert, value]) => ({
      expr: firing(alert),
      eval_time: '2h',
      exp_samples: [{ labels: '{}', value }],
    })),
  }
}

test('promtool accepts the rules and the example configuration', async () => {
  expect(await promtool(['check', 'config', join(projectRoot, 'docker/monitoring/prometheus.yaml')])).toContain(
    'SUCCESS',
  )
  expect(await promtool(['check', 'rules', file])).toContain(`${rules.length} rules found`)
}, 60_000)

test('every alert has a severity, a summary and a description', () => {
  for (const { alert, labels, annotations } of rules) {
    expect([alert, labels['severity']]).toEqual([alert, expect.stringMatching(/^(critical|warning)$/)])
    expect([alert, annotations['summary'], annotations['description']?.length]).toEqual([
      alert,
      expect.stringMatching(/\w/),
      expect.any(Number),
    ])
  }
})

test('no alert fires for a healthy Mailroom, and each fault fires its own alert alone', async () => {
  expect(Object.keys(faults).sort()).toEqual(rules.map(rule => rule.alert).sort())
  const only = (alert: string | null) => new Map(rules.map(rule => [rule.alert, rule.alert === alert ? 1 : 0]))
  const tests = [
    ruleTest(healthy, only(null)),
    ...rules.map(({ alert }) => ruleTest({ ...healthy, ...faults[alert] }, only(alert))),
  ]
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-alerts-'))
  try {
    const path = join(folder, 'tests.json')
    writeFileSync(path, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }))
    expect(await promtool(['test', 'rules', path])).toContain('SUCCESS')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
