# make install and uninstall, and of which parts what they install is; packages.mk makes packages
# of these. The directories follow the GNU conventions:
#
#   make install PREFIX=/usr/local DESTDIR=/tmp/stage
#
# Configuration goes to /etc whatever the prefix, because that is where varq and
# Slurm look for it, and a file that is already there is left alone. Without DESTDIR,
# as root, install also creates the user varq, and it prints what is left to do.

BINDIR          ?= $(PREFIX)/bin
SBINDIR         ?= $(PREFIX)/sbin
DATADIR         ?= $(PREFIX)/share
MANDIR          ?= $(DATADIR)/man
DOCDIR          ?= $(DATADIR)/doc/varq
SYSCONFDIR      ?= /etc
UNITDIR         ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR     ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR     ?= $(PREFIX)/lib/tmpfiles.d
BASHCOMPDIR     ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR      ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR     ?= $(DATADIR)/fish/vendor_completions.d
SLURM_CONFDIR   ?= $(SYSCONFDIR)/slurm
SLURM_PLUGINDIR ?= $(shell packaging/slurm-plugindir)

# The parts, each of which becomes a package.
PARTS := varq varq-lab varq-predictor varq-agent varq-slurm varq-slurmlab

pages = $(foreach page,$(1),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(page))

# The pages of commands, one each, by the program.
LAB_PAGES := $(notdir $(wildcard packaging/man/varq-lab*.1))
VARQ_PAGES := $(filter-out $(LAB_PAGES),$(notdir $(wildcard packaging/man/varq*.1)))

completions = $(BASHCOMPDIR)/$(1) $(ZSHCOMPDIR)/_$(1) $(FISHCOMPDIR)/$(1).fish

# What install writes once, and uninstall leaves.
CONFIGURATION = $(SYSCONFDIR)/varq/varq.yaml

FILES_varq = $(CONFIGURATION) $(addprefix $(BINDIR)/,varq varq-wrapper) \
  $(call completions,varq) $(call pages,$(VARQ_PAGES) varq.yaml.5 varq.7)
FILES_varq-lab = $(BINDIR)/varq-lab $(call completions,varq-lab) $(call pages,$(LAB_PAGES))
FILES_varq-predictor = $(SBINDIR)/varqd $(UNITDIR)/varqd.service $(SYSUSERSDIR)/varq.conf $(TMPFILESDIR)/varq.conf \
  $(DOCDIR)/guide.html $(call pages,varqd.8)
FILES_varq-agent = $(SBINDIR)/varq-agent $(UNITDIR)/varq-agent.service $(call pages,varq-agent.8)
FILES_varq-slurm = $(SLURM_CONFDIR)/plugstack.conf.d/varq.conf $(SLURM_PLUGINDIR)/spank_varq.so \
  $(BINDIR)/varq-filter $(addprefix $(DATADIR)/varq/,varq.lua cli_filter.lua)
FILES_varq-slurmlab = $(SBINDIR)/slurmlab $(call pages,slurmlab.8)

# The plugstack line goes before the plugin that it names, so that Slurm goes on working throughout.
INSTALLED = $(foreach part,varq-slurm $(filter-out varq-slurm,$(PARTS)),$(FILES_$(part)))

# The commands that complete themselves in a shell.
COMPLETED := varq varq-lab

# Those of them that are written by a command, not copied with a mode. PLACE puts
# these directories in the place of the usual ones.
MADE = \
  $(addprefix $(DATADIR)/varq/,varq.lua cli_filter.lua) \
  $(SLURM_CONFDIR)/plugstack.conf.d/varq.conf $(addprefix $(UNITDIR)/,varqd.service varq-agent.service) \
  $(foreach command,$(COMPLETED),$(call completions,$(command)))
PLACE = sed -e 's|/usr/bin/varq|$(BINDIR)/varq|g' -e 's|/usr/sbin/varq|$(SBINDIR)/varq|g' \
  -e 's|/usr/share/varq|$(DATADIR)/varq|g'

.PHONY: install uninstall parts

install:
	@test -x $(BUILT)/varq || { echo 'nothing to install yet: run make build first' >&2; exit 1; }
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))))
	install -m 755 $(addprefix $(BUILT)/,varq varq-lab varq-filter varq-wrapper) $(DESTDIR)$(BINDIR)
	install -m 755 $(addprefix $(BUILT)/,varqd varq-agent slurmlab) $(DESTDIR)$(SBINDIR)
	install -m 755 $(BUILT)/spank_varq.so $(DESTDIR)$(SLURM_PLUGINDIR)
	$(PLACE) plugin/lua/varq.lua > $(DESTDIR)$(DATADIR)/varq/varq.lua
	$(PLACE) plugin/lua/cli_filter.lua > $(DESTDIR)$(DATADIR)/varq/cli_filter.lua
	$(PLACE) packaging/slurm/plugstack-varq.conf > $(DESTDIR)$(SLURM_CONFDIR)/plugstack.conf.d/varq.conf
	$(PLACE) packaging/systemd/varqd.service > $(DESTDIR)$(UNITDIR)/varqd.service
	$(PLACE) packaging/systemd/varq-agent.service > $(DESTDIR)$(UNITDIR)/varq-agent.service
	install -m 644 packaging/systemd/sysusers.conf $(DESTDIR)$(SYSUSERSDIR)/varq.conf
	install -m 644 packaging/systemd/tmpfiles.conf $(DESTDIR)$(TMPFILESDIR)/varq.conf
	install -m 644 packaging/doc/guide/guide.html $(DESTDIR)$(DOCDIR)/guide.html
	for command in $(COMPLETED); do \
	  $(BUILT)/$$command completion bash > $(DESTDIR)$(BASHCOMPDIR)/$$command && \
	  $(BUILT)/$$command completion zsh > $(DESTDIR)$(ZSHCOMPDIR)/_$$command && \
	  $(BUILT)/$$command completion fish > $(DESTDIR)$(FISHCOMPDIR)/$$command.fish || exit 1; \
	done
	chmod 644 $(addprefix $(DESTDIR),$(MADE))
	for page in $(notdir $(filter $(MANDIR)/%,$(INSTALLED))); do \
	  install -m 644 packaging/man/$$page $(DESTDIR)$(MANDIR)/man$${page##*.} || exit 1; \
	done
	test -e $(DESTDIR)$(CONFIGURATION) || install -m 644 packaging/etc/varq.yaml $(DESTDIR)$(CONFIGURATION)
ifeq ($(DESTDIR),)
	@packaging/system-user $(SYSUSERSDIR)/varq.conf
	@sed -e 's|CONFIGURATION|$(CONFIGURATION)|' -e 's|SBINDIR|$(SBINDIR)|' -e 's|DATADIR|$(DATADIR)|' packaging/next-steps
endif

uninstall:
	rm -f $(addprefix $(DESTDIR),$(filter-out $(CONFIGURATION),$(INSTALLED)))
	-rmdir $(DESTDIR)$(DATADIR)/varq $(DESTDIR)$(DOCDIR) 2>/dev/null

# What packages are made of beside the files: for each part, in OUT, the list of its files and its scripts
# post, preun and postun, which rpm and dpkg take alike. A part with a unit has the scripts of units after its own.
parts: OUT ?= build/parts
parts:
	@mkdir -p $(OUT)
	@$(foreach part,$(PARTS),printf '%s\n' $(FILES_$(part)) > $(OUT)/$(part).files;)
	@$(foreach part,$(PARTS),$(foreach step,post preun postun,$(call script,$(part),$(step))))

unit = $(notdir $(filter %.service,$(FILES_$(1))))
script = $(if $(call unit,$(1)),sed -e '1i#!/bin/sh' -e 's/UNIT/$(call unit,$(1))/' $(wildcard packaging/scripts/$(1).$(2)) packaging/scripts/unit.$(2) > $(OUT)/$(1).$(2);)
