import { gauge, histogram } from '../base/observability/metrics.ts'

/** From when an event was written until it was numbered, so that readers see it. Observed by the process that numbered it. */
export const sequenceLag = histogram(
  'mailroom_event_sequence_lag_seconds',
  'From when an event was written until readers can see it.',
  [],
  [0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 15, 60, 300],
)

export const unsequencedEvents = gauge(
  'mailroom_events_unsequenced',
  'Committed events that readers cannot see yet, when this process last looked, counted up to 1000.',
  [],
  { ofProcesses: 'max' },
)

export const oldestUnsequenced = gauge(
  'mailroom_events_oldest_unsequenced_seconds',
  'The age of the oldest event that readers cannot see yet, when this process last looked; 0: there was none.',
  [],
  { ofProcesses: 'max' },
)
