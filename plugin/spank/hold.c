/* Running varq-wrapper before a task, in the task's own process.
 *
 * By default, nearly every signal to the job would end this process. So the
 * process blocks all signals and takes them one by one. It obeys the signals that
 * end a job. It drops the others, because the work that they are meant for does
 * not run yet. varq-wrapper does the same, because a signal may reach only one of
 * the two processes: "scancel --batch" reaches only this one, and
 * proctrack/linuxproc only varq-wrapper. */
#define _GNU_SOURCE
#include "varq.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit codes. The first two are those of varq-wrapper, see its main.go. */
enum { EXIT_GO = 0, EXIT_CANCELLED = 3, EXIT_NO_EXEC = 127 };

/* passed are the variables of slurmstepd's environment that varq-wrapper has: those by
 * which it and Slurm's commands find their programs, files and sockets, and the time
 * zone of its messages. The job's user reads that environment in /proc, and slurmd's may
 * hold secrets. */
static const char *const passed[] = {
	"PATH", "LD_LIBRARY_PATH", "TZ", "LANG", "LC_ALL",
	"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_SACK_SOCKET", "MUNGE_SOCKET", "VARQ_CONFIG", "VARQ_ENDPOINT",
};
enum { PASSED = sizeof passed / sizeof passed[0] };

/* pass fills env, which ends with NULL. */
static void pass(char *env[PASSED + 1])
{
	for (size_t i = 0; i < PASSED; i++) {
		size_t length = strlen(passed[i]);
		for (char **variable = environ; variable && *variable; variable++)
			if (!strncmp(*variable, passed[i], length) && (*variable)[length] == '=') {
				*env++ = *variable;
				break;
			}
	}
	*env = NULL;
}

/* become_wrapper runs varq-wrapper in the child process. The child reads nothing of
 * the work's standard input. It has variables of slurmstepd and not of the job, because
 * the job's user controls the latter. */
static void become_wrapper(char *const argv[], pid_t task)
{
	char *env[PASSED + 1];
	pass(env);
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		_exit(EXIT_NO_EXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == task) /* the task still lives */
		execve(argv[0], argv, env);
	_exit(EXIT_NO_EXEC);
}

static int ends_job(int sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGQUIT;
}

/* await_child takes signals until the child has ended or a signal ends the job. It
 * returns 0, with the child's status in *status, or that signal. */
static int await_child(pid_t child, const sigset_t *all, int *status)
{
	for (;;) {
		int sig = sigwaitinfo(all, NULL);
		if (sig == SIGCHLD && waitpid(child, status, WNOHANG) == child)
			return 0;
		if (ends_job(sig))
			return sig;
		if (sig > 0 && sig != SIGCHLD && sig != SIGCONT && sig != SIGURG && sig != SIGWINCH)
			slurm_info("varq: %s arrived before the work started, and is dropped", strsignal(sig));
	}
}

/* die_of ends this process by a signal, as if it had never been blocked. */
static void die_of(int sig)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, sig);
	signal(sig, SIG_DFL);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + sig);
}

/* then says what becomes of the work if varq-wrapper has failed. */
static const char *then(enum outcome otherwise)
{
	return otherwise == RUN_THE_WORK ? "the work starts at once" : "the work does not run, as it might run twice";
}

/* judge returns what the status of varq-wrapper means for the work. Slurm kills a job
 * with SIGKILL, which may reach varq-wrapper alone or first. */
static enum outcome judge(int status, const char *wrapper, enum outcome otherwise)
{
	if (WIFSIGNALED(status) && (ends_job(WTERMSIG(status)) || WTERMSIG(status) == SIGKILL))
		die_of(WTERMSIG(status));
	if (!WIFEXITED(status))
		slurm_error("varq: %s was ended by signal %d; %s", wrapper, WTERMSIG(status), then(otherwise));
	else if (WEXITSTATUS(status) == EXIT_NO_EXEC)
		slurm_error("varq: %s cannot be run; %s", wrapper, then(otherwise));
	else if (WEXITSTATUS(status) == EXIT_CANCELLED)
		return WORK_IS_CANCELLED;
	else if (WEXITSTATUS(status) == EXIT_GO)
		return RUN_THE_WORK;
	else
		slurm_error("varq: %s failed with exit code %d; %s", wrapper, WEXITSTATUS(status), then(otherwise));
	return otherwise;
}

/* run_wrapper runs varq-wrapper, and returns otherwise if that fails. */
enum outcome run_wrapper(char *const argv[], enum outcome otherwise)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	/* If SIGCHLD were ignored, sigwaitinfo would never return it. */
	struct sigaction default_action = { .sa_handler = SIG_DFL }, child_before;
	sigaction(SIGCHLD, &default_action, &child_before);

	pid_t task = getpid();
	pid_t child = fork();
	if (child == 0)
		become_wrapper(argv, task);
	enum outcome outcome = otherwise;
	if (child < 0) {
		slurm_error("varq: %s: fork: %s; %s", argv[0], strerror(errno), then(otherwise));
	} else {
		int status = 0, sig = await_child(child, &all, &status);
		if (sig)
			die_of(sig);
		outcome = judge(status, argv[0], otherwise);
	}
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return outcome;
}
