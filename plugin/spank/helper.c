/* The helper is varq-filter, a process beside the command. It starts at the first
 * option of varq's, so that it is ready when varq.lua needs it.
 *
 * varq.lua writes orders into one pipe and reads the answer from another. The command
 * alone has the write end of the first pipe. So the helper reads its end when the command
 * ends, whatever ends it, and takes a promise back for which it was told no job.
 *
 * The helper outlives the command by a moment. So it has none of the command's open
 * files, is in a session of its own, which no key of a terminal ends, and is not a child
 * of the command, which may wait for all its children. */
#define _GNU_SOURCE
#include "varq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDERS_VARIABLE "VARQ_ORDERS"
#define ANSWER_VARIABLE "VARQ_ANSWER"

/* The helper's file descriptors, beside standard error. */
enum { ORDERS = STDIN_FILENO, ANSWER = STDOUT_FILENO, BOX = 3, KEPT };

static int answer_end = -1;
static pid_t launcher = -1; /* the helper's parent, which ends at once */

static void close_from(unsigned first)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
#endif
	for (long fd = first, last = sysconf(_SC_OPEN_MAX); fd < last; fd++)
		close(fd);
}

/* become_helper runs in a child of the command. */
static void become_helper(const char *helper, int orders, int answer, int box)
{
	/* The originals may have the numbers that the copies are to have. */
	orders = fcntl(orders, F_DUPFD, KEPT);
	answer = fcntl(answer, F_DUPFD, KEPT);
	box = fcntl(box, F_DUPFD, KEPT);
	if (dup2(orders, ORDERS) < 0 || dup2(answer, ANSWER) < 0 || dup2(box, BOX) < 0)
		_exit(EXIT_FAILURE);
	close_from(KEPT);
	execl(helper, helper, "submit", (char *)NULL);
	_exit(EXIT_FAILURE);
}

/* start_helper starts the helper. It returns -1 if that is impossible. If the helper
 * cannot be executed, varq.lua finds the answer empty. */
int start_helper(const char *helper, int box)
{
	int orders[2], answer[2];
	if (pipe2(orders, O_CLOEXEC) || pipe2(answer, O_CLOEXEC)) {
		slurm_error("varq: pipe: %s", strerror(errno));
		return -1;
	}
	launcher = fork();
	if (launcher == 0) {
		setsid();
		if (fork() == 0)
			become_helper(helper, orders[0], answer[1], box);
		_exit(EXIT_SUCCESS);
	}
	close(answer[1]);
	if (launcher < 0) {
		slurm_error("varq: fork: %s", strerror(errno));
		return -1;
	}
	/* orders[0] stays open, too: an order to a helper that has died is not a SIGPIPE. */
	answer_end = answer[0];
	tell_number(ORDERS_VARIABLE, orders[1]);
	tell_number(ANSWER_VARIABLE, answer_end);
	return 0;
}

/* hide_helper removes the traces of the helper from the process and from the environment,
 * before that becomes the job's. The orders stay open: when they close, the helper knows that the command
 * has ended. */
void hide_helper(void)
{
	waitpid(launcher, NULL, 0);
	close(answer_end);
	unsetenv(ORDERS_VARIABLE);
	unsetenv(ANSWER_VARIABLE);
	unsetenv("VARQ_RESERVE"); /* an order to the helper, of varq reserve or varq every */
}
