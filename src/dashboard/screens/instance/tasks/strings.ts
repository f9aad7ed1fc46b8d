export const taskStrings = {
  running: 'Under way. You can leave this page.',
  startedBy: (actor: string) => `Started by ${actor}.`,
  progress: (what: string, count: number, of: number | null) =>
    of === null
      ? `${count.toLocaleString('en')} ${what}`
      : `${count.toLocaleString('en')} of ${of.toLocaleString('en')} ${what}`,
  failed: 'It failed',
  lost: 'The process that ran it is gone',
  lostHint: 'It was stopped or restarted before it had finished. Nothing is known of its result: start it again.',
} as const
