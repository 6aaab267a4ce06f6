/* The box is a nameless file in memory, by which texts of any length pass between the
 * command, varq.lua and the helper, and no shell reads them. The environment variable
 * BOX_VARIABLE has its file descriptor in this process. First varq.lua writes the
 * options of the command into it, for the helper. Then varq.lua writes the ticket into
 * it, for this plugin. The file ends with the command, and no other process can write
 * into it. */
#define _GNU_SOURCE
#include "varq.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BOX_VARIABLE "VARQ_BOX"

static int box = -1;

/* open_box opens the box and returns its file descriptor, or -1. */
int open_box(void)
{
	box = memfd_create("varq", MFD_CLOEXEC);
	if (box < 0)
		slurm_error("varq: memfd_create: %s", strerror(errno));
	else
		tell_number(BOX_VARIABLE, box);
	return box;
}

int box_is_open(void)
{
	return box >= 0;
}

/* tell_number tells varq.lua a file descriptor, by an environment variable. */
void tell_number(const char *variable, int fd)
{
	char number[16];
	snprintf(number, sizeof number, "%d", fd);
	setenv(variable, number, 1);
}

/* take_ticket copies WORD of the line "ticket WORD" into ticket, a buffer of size
 * bytes, and closes the box. It returns -1 if there is no such line, or if WORD does
 * not fit. */
int take_ticket(char *ticket, size_t size)
{
	static const char key[] = "ticket ";
	char line[sizeof key + TICKET_SIZE];
	ssize_t n = pread(box, line, sizeof line - 1, 0);
	close(box);
	box = -1;
	unsetenv(BOX_VARIABLE);
	if (n < 0)
		return -1;
	line[n] = '\0';
	char *end = strchr(line, '\n');
	if (!end || strncmp(line, key, strlen(key)))
		return -1;
	*end = '\0';
	int length = snprintf(ticket, size, "%s", line + strlen(key));
	return length > 0 && (size_t)length < size ? 0 : -1;
}
