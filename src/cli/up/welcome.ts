import type { UpFile } from './folder.ts'

/** What `up` prints when it is ready: the way into the dashboard, the key, and commands to copy. */
export function welcomeText(up: UpFile, file: string): string {
  const submission =
    up.submission === null
      ? ''
      : `\n  Submission ${up.submission}, for programs that send by SMTP: any user, the key as password`
  const signIn =
    up.welcome_link === null ? '' : `\nSign in to the dashboard, with a link that works once:\n\n  ${up.welcome_link}\n`
  return `
Mailroom is up.

  Dashboard  ${up.dashboard}
  API        ${up.http}
  SMTP       ${up.smtp}${submission}
  Key        ${up.key}
${signIn}
Send it a message:

  printf 'From: you@friend.test\\r\\nTo: hello@demo.test\\r\\nSubject: Hello\\r\\n\\r\\nIs anyone there?\\r\\n' |
    curl --url smtp://${up.smtp} --mail-from you@friend.test --mail-rcpt hello@demo.test --upload-file -

Read what arrived:

  curl -H 'Authorization: Bearer ${up.key}' ${up.http}/v1/inbox

Send an email from it, which the sandbox stores:

  curl -H 'Authorization: Bearer ${up.key}' -H 'Content-Type: application/json' ${up.http}/v1/emails \\
    -d '{"from": "hello@demo.test", "to": "you@friend.test", "subject": "Hello back", "text": "Yes."}'

All of this is also in ${file}. Ctrl-C stops it; the mail is kept for the next run.
`
}
