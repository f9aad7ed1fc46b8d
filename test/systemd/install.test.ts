import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, existsSync, lstatSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { until } from '../harness/until.ts'
import { type Machine, startMachine, whyNoMachine } from './machine.ts'
import { checkout } from './machine-disk.ts'

const why = whyNoMachine()
if (why) process.stderr.write(`The installer is not tested here: ${why}.\n`)

const installer = `${checkout}/systemd/install`
const given = {
  MAILROOM_HOSTNAME: 'mail.demo.test',
  // What goes out comes in again.
  MAILROOM_SMARTHOST_URL: 'smtp://127.0.0.1:25',
  MAILROOM_ORGANIZATION: "Demo & Sons' post",
}
const longMs = 400_000

/** The output of a run of the installer about a step: its sentence, and whether it was done before. */
interface StepOutput {
  readonly sentence: string
  readonly isDone: boolean
}

function readSteps(output: string): readonly StepOutput[] {
  const sentences = [
    'Installing the Debian packages',
    'Creating the account',
    'Copying version',
    'Creating the database',
    'Configuring clamd',
    'Writing /etc',
    'Configuring rspamd',
    'Installing the systemd unit',
    'Making 0.',
    'Creating the tables',
    'Enabling and starting',
  ]
  return output.split('\n').flatMap(line => {
    const [, sentence = '', done] = /^mailroom: (.*?)(: done already)?$/.exec(line) ?? []
    return sentences.some(start => sentence.startsWith(start)) ? [{ sentence, isDone: !!done }] : []
  })
}

describe.skipIf(why !== null)('systemd/install', () => {
  let machine: Machine

  beforeAll(async () => {
    machine = await startMachine()
  }, 600_000)

  afterAll(() => machine?.end())

  const install = (args = '') => machine.run(`${installer} ${args}`, given)
  const sh = async (commands: string) => {
    const { status, out, err } = await machine.run(commands)
    if (status !== 0) throw new Error(`${commands} ended with ${status}:\n${out}${err}`)
    return out.trim()
  }
  const firstMail = async (tag: string) => JSON.parse(await machine.runBeside('first-mail.ts', [machine.path(''), tag]))
  const mainPid = () => sh('systemctl show --property=MainPID --value mailroom')
  const file = (path: string) => readFileSync(machine.path(path), 'utf8')

  /** Runs the installer and kills it, with all that it started, shortly after it begins with a step. Which one it was. */
  async function killAt(stepIndex: number, afterMs: number): Promise<string | undefined> {
    const running = machine.start(installer, given)
    void new Response(running.stdout).text()
    let said = ''
    const decoder = new TextDecoder()
    let reached: string | undefined
    for await (const bytes of running.stderr) {
      said += decoder.decode(bytes, { stream: true })
      if (reached) continue
      reached = readSteps(said).find((step, index) => index >= stepIndex && !step.isDone)?.sentence
      if (!reached) continue
      await Bun.sleep(afterMs)
      process.kill(-running.pid, 'SIGKILL')
    }
    await running.exited
    return reached
  }

  test(
    'killed in each of its steps, it continues where it stopped, on a system that is not booted yet',
    async () => {
      const reached: (string | undefined)[] = []
      for (let index = 0; index < 10; index++) reached.push(await killAt(index, [700, 0, 400, 100][index % 4] ?? 0))
      expect(reached.filter(Boolean).length).toBeGreaterThanOrEqual(8)

      const last = await install()
      expect({ status: last.status, err: last.err }).toMatchObject({ status: 0 })
      const again = await install()
      expect(again.status).toBe(0)
      expect(again.err).toMatch(
        /To sign in to the dashboard: sudo mailroom org owner org_\w+ you@example.com --operator\n/,
      )
      expect(readSteps(again.err)).toHaveLength(10)
      expect(readSteps(again.err).filter(step => !step.isDone)).toEqual([])
      expect((await install('--check')).status).toBe(0)
      for (const left of ['usr/sbin/policy-rc.d', 'run/mysqld/mailroom-install.pid', 'opt/mailroom/versions/.new'])
        expect([left, existsSync(machine.path(left))]).toEqual([left, false])
    },
    longMs,
  )

  test('the spam filter is installed where it is asked for, and only there', async () => {
    const { status, err } = await install('--check --with-rspamd')
    expect(status).toBe(1)
    for (const sentence of ['Installing the Debian packages', 'Configuring rspamd'])
      expect(err).toContain(`mailroom: ${sentence}: to do\n`)
    expect((await install('--check')).err).not.toContain('rspamd')
  })

  /** Starts a program that prints `locked` once it has a lock. */
  async function holdLock(commands: string): Promise<void> {
    const { value } = await machine.start(commands).stdout.getReader().read()
    expect(value && new TextDecoder().decode(value)).toBe('locked')
  }

  test('one run at a time; the next waits some seconds for what a killed one may have left behind', async () => {
    await holdLock('flock /run/lock/mailroom-install sh -c "printf locked; exec sleep 12"')
    expect(await install('--check')).toMatchObject({
      status: 1,
      err: 'mailroom: systemd/install is running already.\n',
    })
    expect((await install('--check')).status).toBe(0)
  })

  test('it waits while another program changes the packages', async () => {
    await sh('dpkg --remove unzip')
    // As dpkg itself locks: with fcntl, a whole file.
    const program = `open my $file, ">>", "/var/lib/dpkg/lock-frontend" or die $!;
      my $lock = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
      fcntl($file, F_SETLK, $lock) or die $!; syswrite STDOUT, "locked"; sleep 3`
    await holdLock(`perl -MFcntl -e '${program}'`)
    const { status, err } = await install()
    expect([status, err]).toEqual([0, expect.stringContaining('Another program is changing the packages: waiting')])
    expect(await sh('dpkg-query -W unzip')).toMatch(/^unzip\t\d/)
  })

  test('only root can read the secrets, and the account has no login', async () => {
    const mode = (path: string) => (lstatSync(machine.path(path)).mode & 0o777).toString(8)
    expect(mode('etc/mailroom/credentials')).toBe('700')
    expect(mode('etc/mailroom/credentials/database_url')).toBe('600')
    expect(mode('etc/mailroom/first-key.json')).toBe('600')
    expect(mode('etc/mailroom/mailroom.env')).toBe('640')
    expect(await sh('getent passwd mailroom')).toMatch(/:\/usr\/sbin\/nologin$/)
    expect(await sh('find /opt/mailroom -perm /o+w ! -type l | wc -l')).toBe('0')
  })

  test('the unit is valid, and its exposure is below 3 of 10', async () => {
    expect(await machine.run('systemd-analyze verify /etc/systemd/system/mailroom.service')).toEqual({
      status: 0,
      out: '',
      err: '',
    })
    const said = await sh(
      'systemd-analyze security --no-pager --offline=true --threshold=30 /etc/systemd/system/mailroom.service',
    )
    const [, exposure = '10'] = /Overall exposure level for mailroom.service: ([\d.]+)/.exec(said) ?? []
    process.stderr.write(`The exposure of mailroom.service is ${exposure}.\n`)
    expect(Number(exposure)).toBeLessThan(3)
  })

  test(
    'it serves after a boot: mail comes in and goes out, and the account has only the privileges it needs',
    async () => {
      appendFileSync(machine.path('etc/mailroom/mailroom.env'), 'MAILROOM_DNS_ZONE=local\n')
      await machine.boot()
      await until(async () => (await machine.run('systemctl is-active mailroom')).status === 0, {
        what: 'the service is active',
        withinMs: 60_000,
      })
      expect(await firstMail('one')).toEqual({ status: 'sent', subjects: ['in one', 'out one'] })
      const status = file(`proc/${await mainPid()}/status`)
      expect(/^NoNewPrivs:\t(.*)$/m.exec(status)?.[1]).toBe('1')
      expect(/^CapEff:\t(.*)$/m.exec(status)?.[1]).toBe((1 << 10).toString(16).padStart(16, '0'))
      expect(/^Uid:\t(\d+)/m.exec(status)?.[1]).toBe(await sh('id -u mailroom'))
      expect(await sh('systemctl show --property=StatusText --value mailroom')).toBe(
        'Serving SMTP on 0.0.0.0:25 and the API on http://127.0.0.1:8080',
      )
      // Nothing but Mailroom listens to other machines: local_address 00000000 or :: in state 0A.
      const open = await sh('awk \'$4 == "0A" && $2 ~ /^0+:/ {print $2}\' /proc/net/tcp /proc/net/tcp6')
      expect([...new Set(open.split('\n'))]).toEqual(['00000000:0019'])
      expect((await install('--check')).status).toBe(0)
    },
    longMs,
  )

  test("the operator's command works as the service's account, from anywhere", async () => {
    expect(JSON.parse(await sh('cd /root && mailroom org list --json'))).toEqual([
      expect.objectContaining({ name: given.MAILROOM_ORGANIZATION }),
    ])
    expect(await sh('find /var/lib/mailroom ! -user mailroom | wc -l')).toBe('0')
  })

  test(
    'with --owner it prints a link to the dashboard, and another one as long as they have not signed in',
    async () => {
      const ownerLink = async () => {
        const { status, err } = await install('--owner ann@example.com')
        expect(status).toBe(0)
        const sentence =
          /This link signs ann@example\.com in, once, until [^\n]+:\n(http:\/\/localhost:8080\/app\/welcome#[\w-]{43})\n/
        return sentence.exec(err)?.[1] ?? `no link in ${err}`
      }
      const link = await ownerLink()
      expect(link).toStartWith('http://')
      expect(await ownerLink()).not.toBe(link)
      const operators = JSON.parse(await sh('mailroom operator list --json'))
      expect(operators).toEqual([expect.objectContaining({ email: 'ann@example.com', last_sign_in_at: null })])
      expect(await sh('curl -sS http://127.0.0.1:8080/app/welcome')).toContain('<script type="module"')
    },
    longMs,
  )

  test(
    'a restart finishes the work in progress and exits cleanly',
    async () => {
      const before = await mainPid()
      await sh('systemctl restart mailroom')
      expect(await mainPid()).not.toBe(before)
      expect(await sh('journalctl --unit=mailroom --output=cat')).not.toMatch(/SIGKILL|Failed with result/)
      expect(await firstMail('two')).toEqual({ status: 'sent', subjects: ['in one', 'in two', 'out one', 'out two'] })
    },
    longMs,
  )

  test(
    'the watchdog kills a process that hangs, and systemd starts another',
    async () => {
      await sh('mkdir -p /etc/systemd/system/mailroom.service.d')
      const dropIn = 'etc/systemd/system/mailroom.service.d/test.conf'
      writeFileSync(machine.path(dropIn), '[Service]\nWatchdogSec=6\nRestartSec=1\n')
      await sh('systemctl daemon-reload && systemctl restart mailroom')
      const before = await mainPid()
      // Longer than the watchdog interval: a healthy process is not killed.
      await Bun.sleep(9000)
      expect(await mainPid()).toBe(before)
      await sh(`kill -STOP ${before}`)
      await until(async () => !['0', before].includes(await mainPid()), {
        what: 'another process runs',
        withinMs: 60_000,
      })
      await until(async () => (await machine.run('systemctl is-active mailroom')).status === 0, {
        what: 'the service is active',
        withinMs: 60_000,
      })
      expect(await sh('journalctl --unit=mailroom --output=cat')).toContain("Failed with result 'watchdog'")
      expect((await firstMail('three')).subjects).toContain('in three')
      await sh(`rm /${dropIn} && systemctl daemon-reload && systemctl restart mailroom`)
    },
    longMs,
  )

  test(
    'with rspamd, mail is filtered and moving it teaches; another run, with the option or without, changes nothing',
    async () => {
      const { status, err } = await install('--with-rspamd')
      expect({ status, err }).toMatchObject({ status: 0 })
      expect(file('etc/mailroom/mailroom.env')).toContain(
        '\nMAILROOM_RSPAMD=http://127.0.0.1:11333\nMAILROOM_RSPAMD_CONTROLLER=http://127.0.0.1:11334\n',
      )
      expect(JSON.parse(await machine.runBeside('filtered-mail.ts', [machine.path('')]))).toEqual({
        letter: { folder: 'inbox', folder_reason: 'accepted', required: 6 },
        gtube: { folder: 'spam', folder_reason: 'spam_filter 15 of 6', required: 6 },
        learned: { spam: 1, ham: 0 },
      })

      const services = 'mailroom rspamd redis-server'
      const state = () =>
        sh(
          `find /etc -xdev -type f -exec sha256sum {} + | sort; systemctl show -P MainPID ${services}; ls /opt/mailroom/*`,
        )
      const before = await state()
      for (const option of ['--with-rspamd', '']) {
        const again = await install(option)
        expect([again.status, readSteps(again.err).length]).toEqual([0, 11])
        expect(readSteps(again.err).filter(step => !step.isDone)).toEqual([])
      }
      expect(await state()).toBe(before)
      expect(await sh(`systemctl is-active ${services}; systemctl is-enabled ${services}`)).toBe(
        'active\nactive\nactive\nenabled\nenabled\nenabled',
      )
      await sh("sed -i '/RSPAMD/d' /etc/mailroom/mailroom.env")
    },
    longMs,
  )

  test(
    'a newer checkout replaces the old one; one that cannot start prints the rollback command, which works',
    async () => {
      const first = readlinkSync(machine.path('opt/mailroom/current'))
      await sh(`sed -i 's/"version": "[^"]*"/"version": "9.0.0"/' ${checkout}/package.json`)
      const upgrade = await install()
      expect({ status: upgrade.status, err: upgrade.err }).toMatchObject({ status: 0 })
      expect(readlinkSync(machine.path('opt/mailroom/current'))).toMatch(/^versions\/9\.0\.0-/)
      const second = readlinkSync(machine.path('opt/mailroom/current'))
      expect(readlinkSync(`/proc/${machine.pid}/root/proc/${await mainPid()}/exe`)).toContain(second)

      await sh(`sed -i 's/"version": "9.0.0"/"version": "9.0.1"/' ${checkout}/package.json`)
      await sh(`echo "throw new Error('broken')" >>${checkout}/src/cli/serve.ts`)
      const broken = await install()
      expect(broken.status).toBe(1)
      const [, rollback = ''] = /back to the previous version: sudo (.*) && sudo/.exec(broken.err) ?? []
      await sh(`${rollback} && systemctl reset-failed mailroom && systemctl restart mailroom`)
      expect(readlinkSync(machine.path('opt/mailroom/current'))).toBe(second)
      expect((await firstMail('four')).subjects).toContain('in one')
      expect(existsSync(machine.path(`opt/mailroom/${first}`))).toBe(true)
      await sh(`sed -i '$d' ${checkout}/src/cli/serve.ts`)
    },
    longMs,
  )

  test(
    'uninstalled, it keeps mail and settings for the next installation; purged, it leaves nothing',
    async () => {
      const clamd = file('etc/clamav/clamd.conf')
      expect((await install('--uninstall')).status).toBe(0)
      expect((await install('--uninstall')).status).toBe(0)
      for (const gone of ['opt/mailroom', 'usr/local/bin/mailroom', 'etc/systemd/system/mailroom.service'])
        expect([gone, existsSync(machine.path(gone))]).toEqual([gone, false])
      expect(file('etc/clamav/clamd.conf')).not.toContain('Mailroom')

      expect((await install()).status).toBe(0)
      expect(file('etc/clamav/clamd.conf')).toBe(clamd)
      expect((await firstMail('five')).subjects).toEqual(expect.arrayContaining(['in one', 'in five']))

      const unasked = await install('--uninstall --purge')
      expect([unasked.status, unasked.err]).toEqual([1, expect.stringContaining('--yes')])
      expect(await sh('systemctl is-active mailroom')).toBe('active')
      expect((await install('--uninstall --purge --yes')).status).toBe(0)
      for (const gone of ['etc/mailroom', 'var/lib/mailroom', 'var/lib/mysql/mailroom'])
        expect([gone, existsSync(machine.path(gone))]).toEqual([gone, false])
      expect((await machine.run('getent passwd mailroom; getent group mailroom')).out).toBe('')
      expect((await install('--uninstall --purge --yes')).status).toBe(0)
    },
    longMs,
  )
})
